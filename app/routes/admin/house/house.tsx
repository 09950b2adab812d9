import { data, Link, redirectDocument } from "react-router";
import { ReceivedForm } from "../../../http/received-form.server.ts";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { UploadField } from "../../../ui/forms/upload-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { accepted, read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, type Context, filesContext, formContext, sessionContext } from "../../../web/context.ts";
import { type FormResult, textOf } from "../../../web/forms/form.server.ts";
import { labelled, type ResourceResult, sendResource, valuesOf } from "../form/form-values.server.ts";
import { ResourceFields } from "../form/resource-form.tsx";
import type { Route } from "./+types/house";
import { house } from "./description.server.ts";

export const meta = titled("La casa");

type Kind = "logo" | "icon";
/** The result of the form of a picture. */
type PictureResult = FormResult & { picture: Kind };

export async function loader({ context }: Route.LoaderArgs) {
  const item = await read(context.get(apiContext).api.house.$get());
  return {
    version: item.updatedAt,
    logo: item.logo,
    icon: item.icon,
    fields: await labelled(context, house, house.fields, item),
    values: await valuesOf(context, house.fields, item),
  };
}

export async function action({ context }: Route.ActionArgs) {
  const picture = textOf(context.get(formContext), "picture");
  if (picture === "logo" || picture === "icon") return changePicture(context, picture);
  return sendResource(context, house, house.fields, async (json, version) => {
    const options = { headers: { "If-Match": `"${version}"` } };
    await accepted(context.get(apiContext).api.house.$patch({ json }, options));
    return done(context, "Guardado.");
  });
}

/** Replaces the logo or the icon with the picture that was sent, or removes it. */
async function changePicture(context: Context, kind: Kind) {
  const { $put, $delete } = context.get(apiContext).api.house.image[":kind"];
  const param = { kind };
  const [sent] = context.get(filesContext);
  try {
    if (context.get(formContext).has("remove")) {
      await accepted($delete({ param }));
      return done(context, "Quitado.");
    }
    if (!sent) return refuse(kind, "Elige una imagen.", 422);
    const body = new ReceivedForm({}, [{ ...sent, field: "image" }]);
    await accepted($put({ param }, { init: { body } }));
    return done(context, "Guardado.");
  } catch (error) {
    const { errors, detail, status } = refusalIn(error);
    return refuse(kind, errors?.image ?? detail, status);
  }
}

const refuse = (picture: Kind, sentence: string, status: number) =>
  data<PictureResult>({ values: {}, errors: { files: sentence }, picture }, status);

function done(context: Context, title: string) {
  context.get(sessionContext).flash({ type: "success", title });
  // The whole document loads again: the icon, the colour and the name stand in its head and in every part of the page.
  return redirectDocument("/admin/casa", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

/** The house as it presents itself: its name, its looks and what new accounts begin with. */
export default function House({ loaderData, actionData }: Route.ComponentProps) {
  const { version, logo, icon, fields, values } = loaderData;
  const result: (ResourceResult & { picture?: undefined }) | PictureResult | undefined = actionData ?? undefined;
  const ofPicture = result?.picture ? result : undefined;
  const ofSettings = result?.picture ? undefined : result;
  return (
    <DashboardPage width="column" up={["/admin", "Panel"]}>
      <h1>La casa</h1>
      <p className="mt-2 text-text-2">
        Cómo se presenta a quien entra. Los textos de la portada y del menú están en{" "}
        <Link to="/admin/page">Páginas</Link>.
      </p>
      <PostForm className="fields mt-6" preventScrollReset key={JSON.stringify(values)}>
        <input type="hidden" name="version" value={ofSettings?.version ?? ofSettings?.values.version ?? version} />
        <ResourceFields fields={fields} values={values} presets={[]} suggestions={{}} result={ofSettings} />
        <div>
          <button type="submit" className="button primary">
            Guardar
          </button>
        </div>
      </PostForm>
      <Picture
        kind="logo"
        title="Logotipo"
        hint="SVG o PNG, para fondo oscuro. Ocupa el lugar del nombre."
        src={logo && `/marca/logotipo?v=${logo}`}
        result={ofPicture}
      />
      <Picture
        kind="icon"
        title="Icono"
        hint="SVG o PNG, cuadrado. Sale en la pestaña y en la pantalla de inicio."
        src={icon && `/marca/icono?v=${icon}`}
        result={ofPicture}
      />
    </DashboardPage>
  );
}

type PictureProps = {
  kind: Kind;
  title: string;
  hint: string;
  src: string | null;
  result: PictureResult | undefined;
};

/** The current picture, the field for a new one, and the button that removes the current one. */
function Picture({ kind, title, hint, src, result }: PictureProps) {
  return (
    <section className="mt-7">
      <h2>{title}</h2>
      {src && <img className="mt-4 max-h-16 max-w-full" src={src} alt={`${title} de ahora`} />}
      <PostForm className="fields mt-4" encType="multipart/form-data" preventScrollReset>
        <input type="hidden" name="picture" value={kind} />
        <UploadField
          id={kind}
          result={result?.picture === kind ? result : undefined}
          label={src ? "Otra imagen" : "Imagen"}
          hint={hint}
          accept="image/svg+xml,image/png,image/jpeg,image/webp"
        />
        <div className="buttons">
          <button type="submit" className="button">
            {src ? "Cambiar" : "Poner"}
            <span className="sr-only"> {title.toLowerCase()}</span>
          </button>
          {src && (
            <button type="submit" className="button" name="remove" value="1" formNoValidate>
              Quitar<span className="sr-only"> {title.toLowerCase()}</span>
            </button>
          )}
        </div>
      </PostForm>
    </section>
  );
}
