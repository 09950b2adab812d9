import type { ReactNode } from "react";

type Props = {
  /** Address and label of the link that leads back. */
  back: [to: string, label: string];
  title: string;
  /** CSS class of the page's own look. */
  look?: string;
  children: ReactNode;
};

/** A page of its own, without the frame of the dashboard: a link back, its title and its content. */
export function Leaf({ back: [to, label], title, look, children }: Props) {
  return (
    <main className={look ? `leaf ${look}` : "leaf"} id="contenido">
      <p className="mt-6">
        <a href={to}>{label}</a>
      </p>
      <h1 className="mt-4 break-words">{title}</h1>
      {children}
    </main>
  );
}
