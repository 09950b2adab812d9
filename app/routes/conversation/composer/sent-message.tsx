import { useNavigation, useParams } from "react-router";

/** The person's message while the server has not yet answered that it is stored. */
export function SentMessage() {
  const { formData, formAction } = useNavigation();
  const { id } = useParams();
  const content = formData?.get("content");
  const isOther = formData?.has("queued") || formAction !== `/conversation/chat/${id}`;
  if (typeof content !== "string" || !content.trim() || isOther) return null;
  return (
    <article className="turn" data-role="user" data-status="sending">
      <h2 className="sr-only">Tú</h2>
      <div className="said" dir="auto">
        {content.trim()}
      </div>
    </article>
  );
}
