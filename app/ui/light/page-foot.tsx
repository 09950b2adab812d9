import { use } from "react";
import { Light } from "./light.ts";
import { LightChoice } from "./light-choice.tsx";

/** The end of every page: whether pages are to be light, and on a light one what it has weighed. */
export function PageFoot({ offersChoice }: { offersChoice: boolean }) {
  const light = use(Light);
  if (!light && !offersChoice) return null;
  return (
    <section className="page-foot" aria-label="Peso de las páginas">
      {offersChoice ? (
        <LightChoice />
      ) : (
        <p>
          Página ligera. <a href="/user#ligeras">Cambiar</a>
        </p>
      )}
      {/* `web/light/page.server.ts` writes the weight, once the page is there to be weighed. */}
      {light && <p data-weight="" />}
    </section>
  );
}
