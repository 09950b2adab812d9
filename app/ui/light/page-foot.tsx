/** The foot of a light page: says that the page is light, and its weight. */
export function PageFoot() {
  return (
    <section className="page-foot" aria-label="Peso de las páginas">
      <p>
        Página ligera. <a href="/paginas-ligeras">Cambiar</a>
      </p>
      {/* `web/light/page.server.ts` writes the weight, once the page is there to be weighed. */}
      <p data-weight="" />
    </section>
  );
}
