import type { ReactNode } from "react";
import { Wordmark } from "./wordmark.tsx";

type Props = {
  /** Address and label of the link that leads back. */
  back: [to: string, label: string];
  title: string;
  /** CSS class of the page's own look. */
  look?: string;
  children: ReactNode;
};

// Pages of the workspace that are of use beside each other.
const sections = [
  ["/conversation/chat", "Conversaciones"],
  ["/conversation/encargo", "Encargos"],
  ["/conversation/escrito", "Escritos"],
  ["/user", "Tu cuenta"],
];

/** A page of its own, without the frame of the dashboard and without script: ways to the sections, a link back, its title and content. */
export function Leaf({ back: [to, label], title, look, children }: Props) {
  return (
    <>
      <header className="leaf-head">
        <Wordmark />{" "}
        <nav aria-label="Secciones">
          <ul>
            {sections.map(([address, name]) => (
              <li key={address}>
                <a href={address}>{name}</a>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      <main className={look ? `leaf ${look}` : "leaf"} id="contenido">
        <p className="mt-5">
          <a href={to}>{label}</a>
        </p>
        <h1 className="mt-4 break-words">{title}</h1>
        {children}
      </main>
    </>
  );
}
