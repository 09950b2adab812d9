import { type ReactNode, use } from "react";
import type { ShownFile } from "../../web/file-display.server.ts";
import { Icon } from "../icon.tsx";
import { Light } from "../light/light.ts";

type Props = {
  file: ShownFile;
  /** The URL of its bytes, without `?variant=`. */
  content?: string | undefined;
  /** The URL of the page with its extracted text. */
  text?: string | undefined;
  children?: ReactNode;
};

/** A file beside a message: a small picture that leads to the large one, or its name that leads to its text. */
export function AttachedFile({ file, content, text, children }: Props) {
  const { name, detail, image, width, height } = file;
  const light = use(Light);
  const picture = image && content ? `${content}?variant=image` : undefined;
  if (picture && !light) {
    const scale = 136 / Math.max(1, width ?? 136);
    return (
      <li className="attachment">
        <a className="thumb" href={picture}>
          <img
            src={`${content}?variant=preview`}
            alt={name}
            width={136}
            height={Math.max(1, Math.round((height ?? 104) * scale))}
            loading="lazy"
          />
        </a>
        {children}
      </li>
    );
  }
  const inside = (
    <>
      <Icon name="document" />
      <span className="clip">{name}</span> <span className="line">{detail}</span>
    </>
  );
  return (
    <li className="attachment">
      {(picture ?? text) ? (
        <a className="chip" href={picture ?? text}>
          {inside}
        </a>
      ) : (
        <span className="chip">{inside}</span>
      )}
      {children}
    </li>
  );
}
