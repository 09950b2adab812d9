import { type MouseEvent, type RefObject, useEffect, useState } from "react";
import { useLocation, useNavigationType } from "react-router";
import { Icon } from "../../../ui/icon.tsx";
import { keepPlace } from "./place.ts";

type Props = { reader: RefObject<HTMLDivElement | null> };

/** «Ir al final», where the end is out of sight: without script by styles alone. Keeps the place of the reader for each visit. */
export default function ToEnd({ reader }: Props) {
  const { key, hash } = useLocation();
  const isReturn = useNavigationType() === "POP" && hash === "";
  const [end, setEnd] = useState<"seen" | "away" | "news">();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each visit
  useEffect(() => {
    if (reader.current) return keepPlace(reader.current, { visit: key, isReturn }, setEnd);
  }, [key]);
  const toEnd = (event: MouseEvent) => {
    // A history entry of its own would be in the way of going back.
    event.preventDefault();
    reader.current?.scrollTo({ top: 0, behavior: "smooth" });
  };
  return (
    // biome-ignore lint/a11y/useValidAnchor: a link without script
    <a className="button small to-end" href="#final" data-end={end} onClick={toEnd}>
      <Icon name="chevron" />
      {end === "news" ? "Ir al final: hay texto nuevo" : "Ir al final"}
    </a>
  );
}
