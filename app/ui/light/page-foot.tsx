import { LightChoice } from "./light-choice.tsx";

/** The end of every page: whether pages are to be light, and on a light one what it has weighed. */
export default function PageFoot({ offersChoice, light }: { offersChoice: boolean; light: boolean }) {
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
