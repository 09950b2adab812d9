import type { AnyAdminResource } from "../descriptions/description.ts";

/** The settings of the house, described like a resource with a single item. */
export const house: AnyAdminResource = {
  path: "house",
  many: "La casa",
  icon: "house",
  one: "casa",
  feminine: true,
  about: "",
  searches: "",
  changes: "patch",
  columns: [],
  filters: [],
  fields: [
    {
      name: "name",
      label: "Nombre",
      required: true,
      hint: "En los títulos, los correos, las aplicaciones de verificación y la aplicación que se instala.",
    },
    {
      name: "accent",
      label: "Color del botón principal",
      nullable: true,
      hint: "Como #f5a623. Vacío: el de serie. Se rechaza si casi no se lee.",
    },
    {
      name: "timeZone",
      label: "Zona horaria",
      nullable: true,
      hint: "De quien no se sabe la suya, como Europe/Madrid. Vacía: UTC.",
    },
    { name: "foot", label: "Pie de las páginas públicas", hint: "Vacío: el nombre." },
    {
      name: "signupDomains",
      label: "Quién puede crear una cuenta",
      hint: "Los dominios de su correo, con comas, como ayto.es. Vacío: cualquiera. Que el correo sea suyo no se comprueba: para eso, invita o entra con la organización.",
    },
    {
      name: "groupIds",
      label: "Grupos de cada cuenta nueva",
      kind: "groups",
      hint: "Entra en ellos al crearse; quien ya la tiene, sigue en los suyos.",
    },
    {
      name: "opensRooms",
      label: "Quién abre salas",
      kind: "choice",
      choices: { nobody: "Nadie", admins: "Quien administra", all: "Cualquier persona con cuenta" },
      hint: "En una sala, quien tenga su enlace habla con un asistente sin cuenta. Lo que se pregunte cuenta en el plan de quien la abre.",
    },
    {
      name: "secondStep",
      label: "Verificación en dos pasos",
      kind: "choice",
      choices: {
        optional: "Quien quiera",
        admins: "Obligatoria para quien administra",
        all: "Obligatoria para todas las personas",
      },
      hint: "De quien entra con una contraseña de aquí. Una llave de acceso ya lo es; de quien entra con la organización responde ella.",
    },
    {
      name: "sessionHours",
      label: "Horas que dura una sesión",
      kind: "number",
      hint: "Aunque se use. Vacío: no acaba mientras se use.",
    },
    {
      name: "idleMinutes",
      label: "Minutos que dura sin usarla",
      kind: "number",
      hint: "De 10 en adelante. Vacío: treinta días.",
    },
    { name: "mailName", label: "Quién firma los correos", nullable: true, hint: "Vacío: el nombre." },
    { name: "mailFoot", label: "Pie de los correos", kind: "area", hint: "Vacío: el nombre." },
  ],
};
