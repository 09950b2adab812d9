import { use } from "react";
import { Light } from "./light/light.ts";

/** An image that a tool has made; `alt` says what it shows. */
export type ShownImage = {
  fileId: string;
  alt: string;
  width: number | null;
  height: number | null;
};

type MadeImageProps = { image: ShownImage; content?: string };

/** An image that a tool has made. `content`: the URL of its bytes, without `?variant=`. */
export function MadeImage({ image, content = `/user/file/${image.fileId}/contenido` }: MadeImageProps) {
  const { alt, width, height } = image;
  const path = `${content}?variant=image`;
  const light = use(Light);
  if (light) {
    return (
      <p className="made">
        <a href={path}>
          Ver la imagen: {alt}
          {width && height && ` (${width} × ${height} píxeles)`}
        </a>
      </p>
    );
  }
  return (
    <p className="made">
      <a href={path}>
        <img src={path} alt={alt} width={width ?? undefined} height={height ?? undefined} loading="lazy" />
      </a>
    </p>
  );
}
