import { z } from "zod";

/** The shape of the form of a template; its rules are the API's. */
export const templateForm = z.object({
  title: z.string().default(""),
  content: z.string().default(""),
  shared: z
    .string()
    .optional()
    .transform((value) => value === "1"),
});
