import { PostForm } from "../../../ui/forms/post-form.tsx";

/** In place of the composer, below a conversation of somebody else. */
export default function ReadOnlyFoot({ author }: { author: string }) {
  return (
    <div className="foot">
      <div className="editing">
        <p>Esta conversación es de {author}. Para seguirla, haz una copia tuya: de los archivos quedan los nombres.</p>
        <PostForm>
          <button type="submit" className="button small" name="intent" value="copy">
            Continuar en una copia
          </button>
        </PostForm>
      </div>
    </div>
  );
}
