import { Link } from "react-router";
import { TableHead } from "../../../ui/table-head.tsx";
import type { impactOf } from "./impact.server.ts";

type Template = ReturnType<typeof impactOf>;

/** A template of the impact assessment (GDPR, article 35), filled in from the settings, for the person responsible; on paper too. */
export function Impact({ day, facts, processors, risks, blank }: Template) {
  return (
    <>
      <h1>Evaluación de impacto</h1>
      <p className="mt-2 text-text-2">
        Artículo 35 del RGPD. Un modelo con lo que esta instalación sabe de sí misma a {day}; lo que va en blanco lo
        escribe quien responde. Se imprime tal cual.
      </p>
      <Facts facts={facts} blank={blank} />
      <section className="mt-7">
        <h2>2. Necesidad y proporcionalidad</h2>
        <p>Para qué se usa, y por qué no basta algo que trate menos datos: {blank}</p>
        <p className="mt-4">A quién se ha preguntado (personas afectadas, delegado de protección de datos): {blank}</p>
      </section>
      <Processors processors={processors} blank={blank} />
      <Risks risks={risks} blank={blank} />
      <section className="mt-7">
        <h2>5. Conclusión</h2>
        <p>Decisión, quién la toma, fecha y cuándo se revisa: {blank}</p>
      </section>
    </>
  );
}

function Facts({ facts, blank }: Pick<Template, "facts" | "blank">) {
  return (
    <section className="mt-7">
      <h2>1. El tratamiento</h2>
      <dl className="facts">
        {facts.map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
        <div>
          <dt>Base jurídica</dt>
          <dd>{blank}</dd>
        </div>
        <div>
          <dt>Categorías especiales de datos</dt>
          <dd>{blank}</dd>
        </div>
      </dl>
      <p className="mt-4">
        Qué se guarda, cuánto tiempo y con qué medidas está en el{" "}
        <Link to="/admin/tratamiento">registro de actividades</Link>.
      </p>
    </section>
  );
}

function Processors({ processors, blank }: Pick<Template, "processors" | "blank">) {
  return (
    <section className="mt-7">
      <h2>3. Encargados del tratamiento</h2>
      {processors.length === 0 ? (
        <p>Ninguno: nada sale de esta máquina.</p>
      ) : (
        <table className="table cards mt-4">
          <TableHead texts={["Quién", "Dónde", "Contrato y garantías"]} />
          <tbody>
            {processors.map(({ key, name, host, company }) => (
              <tr key={key}>
                <th scope="row">{name}</th>
                <td data-label="Dónde">{company ? `${company}, ${host}` : host}</td>
                <td data-label="Contrato y garantías">{blank}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Risks({ risks, blank }: Pick<Template, "risks" | "blank">) {
  return (
    <section className="mt-7">
      <h2>4. Riesgos y medidas</h2>
      <table className="table cards mt-4">
        <TableHead texts={["Riesgo", "Lo que hay", "Riesgo que queda"]} />
        <tbody>
          {risks.map(({ risk, measure }) => (
            <tr key={risk}>
              <th scope="row">{risk}</th>
              <td data-label="Lo que hay">{measure}</td>
              <td data-label="Riesgo que queda">{blank}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
