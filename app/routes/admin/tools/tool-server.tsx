import { Callout } from "../../../ui/callout.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { choicesOf, Select } from "../../../ui/forms/select.tsx";
import { TableHead } from "../../../ui/table-head.tsx";
import type { SignInAnswer, toolServerOf } from "./tool-server.server.ts";

type Props = NonNullable<ReturnType<typeof toolServerOf>> & { result: SignInAnswer | undefined };

const uses = { ask: "Se pregunta antes", free: "Sin preguntar", off: "No se ofrece" };

/** The server of a tool: whether it answers, signing in there, and which of its tools are offered, and how. */
export function ToolServer({ asked, problem, signedIn, maySignIn, account, tools, result }: Props) {
  return (
    <section className="mt-7">
      <h2>Sus herramientas</h2>
      {problem && (
        <div className="mt-3">
          <Callout type="warning">
            <p>{problem}</p>
          </Callout>
        </div>
      )}
      {result?.signInAt && (
        <div className="mt-3">
          <Callout type="info">
            <p>
              <a href={result.signInAt}>Continuar en {URL.parse(result.signInAt)?.host}</a>: allí das permiso y vuelves
              aquí.
            </p>
          </Callout>
        </div>
      )}
      {account && (
        <p className="mt-3 text-text-2">
          Cada persona la usa con su cuenta. Para ver qué ofrece,{" "}
          <a href={`/user/cuentas/${account}`}>conecta la tuya</a>.
        </p>
      )}
      <PostForm className="buttons mt-4">
        <button type="submit" className="button small" name="intent" value="list">
          {asked ? "Preguntarle otra vez" : "Preguntarle"}
        </button>
        {maySignIn && (
          <button type="submit" className="button small" name="intent" value="sign-in">
            {signedIn ? "Iniciar sesión allí otra vez" : "Iniciar sesión allí"}
          </button>
        )}
      </PostForm>
      {tools.length === 0 ? (
        <p className="mt-3 text-text-2">
          {asked ? "No ofrece ninguna." : "Todavía no se le ha preguntado qué herramientas tiene."}
        </p>
      ) : (
        <Uses tools={tools} />
      )}
    </section>
  );
}

function Uses({ tools }: Pick<Props, "tools">) {
  return (
    <PostForm className="mt-5">
      <table className="table cards uses">
        <TableHead texts={["Herramienta", "Qué dice de sí misma", "Cómo se usa"]} />
        <tbody>
          {tools.map(({ name, title, description, kind, use }) => (
            <tr key={name}>
              <th scope="row">{title}</th>
              <td data-label="Qué dice de sí misma">
                {kind}. {description}
              </td>
              <td data-label="Cómo se usa">
                <Select
                  name={`uso.${name}`}
                  aria-label={`Cómo se usa ${title}`}
                  choices={choicesOf(uses)}
                  defaultValue={use}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="buttons mt-4">
        <button type="submit" className="button primary" name="intent" value="choose">
          Guardar
        </button>
      </p>
    </PostForm>
  );
}
