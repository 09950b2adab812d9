import type { MayUse as Listed } from "./may-use.server.ts";

/** «Qué puedes usar»: what is for everybody, and for the groups that the person is in. */
export function MayUse({ listed }: { listed: Listed }) {
  return (
    <dl className="facts">
      {listed.map(({ label, names }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{names.join(", ")}</dd>
        </div>
      ))}
    </dl>
  );
}
