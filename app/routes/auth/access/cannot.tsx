import { Callout } from "../../../ui/callout.tsx";

/** Why somebody has not come in by a provider, and how to go on. */
export function Cannot({ sentence, volver }: { sentence: string; volver: string }) {
  return (
    <>
      <h1>No has entrado</h1>
      <div className="mb-6">
        <Callout type="error">
          <p>{sentence}</p>
        </Callout>
      </div>
      <p>
        <a className="button" href={`/auth/signin${volver && `?volver=${encodeURIComponent(volver)}`}`}>
          Volver a intentarlo
        </a>
      </p>
    </>
  );
}
