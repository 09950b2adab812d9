type Props = {
  /** Whether the link has been followed, so that the button deletes. */
  asked: boolean;
  /** Address of the page without the question, and the button's words. */
  at: string;
  words: string;
};

/** «Eliminar» in a form, asked again on the same page before anything is deleted. */
export function DeletionButtons({ asked, at, words }: Props) {
  if (!asked) {
    return (
      <a className="button" href="?eliminar=1">
        Eliminar
      </a>
    );
  }
  return (
    <>
      <button type="submit" className="button danger" name="does" value="delete">
        {words}
      </button>{" "}
      <a className="button" href={at}>
        No eliminar
      </a>
    </>
  );
}
