import { type ComponentProps, createContext, type ReactNode, use } from "react";
import { Form } from "react-router";

/** The session's form token, given by the root. */
export const FormToken = createContext("");

/** The hidden field that every POST needs: it proves that the form is from a page of this session. */
export function FormTokenField() {
  return <input type="hidden" name="formToken" value={use(FormToken)} />;
}

/** A form that posts; it works without script. */
export function PostForm({
  children,
  ...props
}: Omit<ComponentProps<typeof Form>, "method"> & { children: ReactNode }) {
  return (
    <Form method="post" {...props}>
      <FormTokenField />
      {children}
    </Form>
  );
}
