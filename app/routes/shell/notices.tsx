import { Callout } from "../../ui/callout.tsx";
import { PostForm } from "../../ui/forms/post-form.tsx";

/** Notices of the house, until the person has read them. */
export default function Notices({ notices }: { notices: { id: string; text: string }[] }) {
  return (
    <section className="notices" aria-label="Avisos de la casa">
      {notices.map(({ id, text }) => (
        <Callout key={id} type="info">
          <p className="notice">{text}</p>
          <PostForm action={`/avisos/${id}`} preventScrollReset>
            <button type="submit" className="button small">
              Entendido
            </button>
          </PostForm>
        </Callout>
      ))}
    </section>
  );
}
