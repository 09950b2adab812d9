import type { ReactNode } from "react";

type Props = {
  /** Address and label of the link that leads back. */
  back: [to: string, label: string];
  title: string;
  /** Name of a look of its own. */
  look?: string;
  children: ReactNode;
};

/** A page apart, without the frame of the dashboard: the way back, its title, and what it is for. */
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
