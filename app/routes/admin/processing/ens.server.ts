import { blank, inWords, type Processing } from "./in-words.server.ts";

type Security = Processing["security"];
/** `covered`: the program covers it with its settings; `missing`: a setting is wanted; `house`: the organisation has to see to it. */
type Coverage = "covered" | "missing" | "house";
type Measure = { code: string; name: string; coverage: Coverage; text: string };

/** A measure that the program covers or not by how it is set. */
const set = (code: string, name: string, is: boolean, covered: string, missing: string): Measure => ({
  code,
  name,
  coverage: is ? "covered" : "missing",
  text: is ? covered : missing,
});
const covered = (code: string, name: string, text: string): Measure => ({ code, name, coverage: "covered", text });
const house = (code: string, name: string, text = "Es de la organización."): Measure => ({
  code,
  name,
  coverage: "house",
  text,
});

// In ms: a younger copy counts as last night's.
const recent = 48 * 60 * 60_000;

/**
 * The 73 measures of the ENS (Real Decreto 311/2022, anexo II) and how this installation stands to each. The program can't know the
 * category of the system, nor the papers of the organisation.
 */
export function measuresOfEns(security: Security): Measure[] {
  const { https, passwords, secondStep, sessionHours, idleMinutes, mails, lastCopyAt } = security;
  const steps = !passwords || secondStep === "all";
  const limited = sessionHours !== null || idleMinutes !== null;
  const copies =
    security.nightlyCopies !== "none" && lastCopyAt !== null && Date.now() - Date.parse(lastCopyAt) < recent;
  const limits = [
    ...(sessionHours === null ? [] : [`${sessionHours} horas`]),
    ...(idleMinutes === null ? [] : [`${idleMinutes} minutos sin usarla`]),
  ].join(", o ");
  return [
    house("org.1", "Política de seguridad"),
    house("org.2", "Normativa de seguridad"),
    house(
      "org.3",
      "Procedimientos de seguridad",
      "docs/operar.md sirve de base: instalar, copiar, restaurar, subir y volver.",
    ),
    house("org.4", "Proceso de autorización"),
    house(
      "op.pl.1",
      "Análisis de riesgos",
      "La evaluación de impacto de esta administración da los riesgos propios de la IA.",
    ),
    covered(
      "op.pl.2",
      "Arquitectura de seguridad",
      "docs/architecture.md y SECURITY.md: piezas, confianza entre ellas y accesos.",
    ),
    house("op.pl.3", "Adquisición de nuevos componentes", "Cada versión trae su lista de componentes (CycloneDX)."),
    covered(
      "op.pl.4",
      "Dimensionamiento y gestión de la capacidad",
      "docs/crecer.md da las cifras medidas; Sistema avisa cuando queda poco disco.",
    ),
    house("op.pl.5", "Componentes certificados"),
    covered(
      "op.acc.1",
      "Identificación",
      "Cada persona tiene una cuenta con un identificador que no se reutiliza, y cada programa, su clave.",
    ),
    covered(
      "op.acc.2",
      "Requisitos de acceso",
      "Todo pide sesión salvo lo publicado; cada quien llega solo a lo suyo y a lo que se le enseña.",
    ),
    set(
      "op.acc.3",
      "Segregación de funciones y tareas",
      security.adminReads !== "open",
      "Quien administra no lee lo de otras personas sin decir para qué, o nunca.",
      "Quien administra lee lo de otras personas: ADMIN_READS=reason o never.",
    ),
    set(
      "op.acc.4",
      "Proceso de gestión de derechos de acceso",
      (security.signup === "closed" || !passwords) && security.openAccesses === 0,
      "Las altas se gestionan: por la organización o por invitación; los grupos dan los derechos, y desactivar una cuenta corta todo al momento.",
      openAccounts(security),
    ),
    set(
      "op.acc.5",
      "Mecanismo de autenticación (usuarios externos)",
      steps,
      passwords
        ? "Contraseñas de ocho caracteres o más que no sean de las corrientes, con segundo paso, o llaves de acceso."
        : "Se entra con la organización, que responde de sus pasos.",
      "Haz obligatoria la verificación en dos pasos para todas las personas, en La casa.",
    ),
    set(
      "op.acc.6",
      "Mecanismo de autenticación (usuarios de la organización)",
      steps && limited,
      `${passwords ? "Con segundo paso" : "Con la organización"}, y sesiones que acaban: ${limits}.`,
      "Hace falta el segundo paso obligatorio y un límite de las sesiones, en La casa.",
    ),
    house("op.exp.1", "Inventario de activos", "La lista de componentes y /admin/sistema dicen qué hay instalado."),
    covered(
      "op.exp.2",
      "Configuración de seguridad",
      "Sin cuentas de serie; lo que puede ir cerrado va cerrado, y un arranque equivocado se niega con una frase.",
    ),
    house(
      "op.exp.3",
      "Gestión de la configuración de seguridad",
      "Los ajustes son variables de entorno y La casa; cada cambio en la administración queda en la auditoría.",
    ),
    house(
      "op.exp.4",
      "Mantenimiento y actualizaciones de seguridad",
      "docs/versiones.md dice cuánto se mantiene cada versión.",
    ),
    house(
      "op.exp.5",
      "Gestión de cambios",
      "Cada versión trae sus cambios, y se vuelve a la anterior con la copia que se hace al subir.",
    ),
    covered(
      "op.exp.6",
      "Protección frente a código dañino",
      "Lo que se sube se lee en procesos aparte y con límites, nunca se ejecuta, y se descarga sin abrirse en el sitio.",
    ),
    set(
      "op.exp.7",
      "Gestión de incidentes",
      security.events,
      "Los fallos de entrada, bloqueos y cambios van a EVENTS_URL.",
      "EVENTS_URL manda la auditoría a un SIEM.",
    ),
    set(
      "op.exp.8",
      "Registro de la actividad",
      security.accessLog,
      "Auditoría sellada de entradas, cambios y lecturas, y cada página y llamada contestada en el registro, con quién y desde dónde.",
      "La auditoría está; ACCESS_LOG=on apunta además cada página y llamada.",
    ),
    house("op.exp.9", "Registro de la gestión de incidentes"),
    covered(
      "op.exp.10",
      "Protección de claves criptográficas",
      "Las claves guardadas van cifradas (AES-256-GCM) con un secreto que está fuera de la base de datos y se puede cambiar.",
    ),
    house(
      "op.ext.1",
      "Contratación y acuerdos de nivel de servicio",
      "Hace falta un contrato con la empresa de cada modelo de fuera: el registro de tratamiento dice cuáles son.",
    ),
    house("op.ext.2", "Gestión diaria"),
    house(
      "op.ext.3",
      "Protección de la cadena de suministro",
      "Dependencias fijadas, lista de componentes, sumas y firma de cada versión.",
    ),
    house("op.ext.4", "Interconexión de sistemas", "Los destinos de cada dato están en el registro de tratamiento."),
    house(
      "op.nub.1",
      "Protección de servicios en la nube",
      "Si el servidor o un modelo están en una nube, pide su certificado ENS.",
    ),
    house("op.cont.1", "Análisis de impacto"),
    set(
      "op.cont.2",
      "Plan de continuidad",
      copies,
      "Copias cada noche en otro sitio y restauración con una orden, que dice cuánto tarda.",
      "BACKUP_URL hace copias cada noche en otro sitio.",
    ),
    set(
      "op.cont.3",
      "Pruebas periódicas",
      copies,
      "npm run restaurar -- --simulacro ensaya la vuelta y la mide; cuándo se hace, lo apunta la organización.",
      "Sin copias en otro sitio no hay qué ensayar.",
    ),
    house("op.cont.4", "Medios alternativos", "Varios procesos o máquinas: docs/crecer.md."),
    set(
      "op.mon.1",
      "Detección de intrusión",
      security.events,
      mails ? "La cuenta bloqueada avisa a su persona y al SIEM." : "La cuenta bloqueada avisa al SIEM.",
      "EVENTS_URL avisa a un SIEM de fallos y bloqueos.",
    ),
    set(
      "op.mon.2",
      "Sistema de métricas",
      security.metrics,
      "/metrics (Prometheus) y el panel de la administración.",
      "METRICS_TOKEN abre /metrics (Prometheus).",
    ),
    set(
      "op.mon.3",
      "Vigilancia",
      security.events && security.accessLog,
      "Auditoría y peticiones salen a donde se vigilan.",
      "EVENTS_URL y ACCESS_LOG=on llevan lo que pasa a donde se vigile.",
    ),
    ...physical,
    set(
      "mp.com.1",
      "Perímetro seguro",
      https,
      "Un solo puerto, con HTTPS. Detrás de un proxy, HOST=127.0.0.1 lo cierra a los demás.",
      "Consta sin HTTPS: pon un proxy delante y PUBLIC_URL.",
    ),
    set(
      "mp.com.2",
      "Protección de la confidencialidad",
      https,
      "HTTPS, y HSTS de un año.",
      "PUBLIC_URL no empieza por https.",
    ),
    set(
      "mp.com.3",
      "Protección de la integridad y de la autenticidad",
      https,
      "HTTPS, con el origen de cada formulario comprobado.",
      "PUBLIC_URL no empieza por https.",
    ),
    house(
      "mp.com.4",
      "Separación de flujos de información en la red",
      "Páginas y API pueden ir en máquinas distintas (API_BASE_URL).",
    ),
    house("mp.si.1", "Marcado de soportes"),
    set(
      "mp.si.2",
      "Criptografía",
      security.nightlyCopies === "encrypted",
      "Las copias de cada noche van cifradas; el disco, como lo tenga la máquina.",
      "BACKUP_PASSPHRASE cifra las copias; el disco, como lo tenga la máquina.",
    ),
    house("mp.si.3", "Custodia"),
    house("mp.si.4", "Transporte"),
    covered(
      "mp.si.5",
      "Borrado y destrucción",
      security.embedded
        ? "Lo borrado se sobrescribe en la base de datos, y los archivos se van con su dueño."
        : "Los archivos se van con su dueño; del disco de PostgreSQL, como lo tenga la máquina.",
    ),
    covered(
      "mp.sw.1",
      "Desarrollo de aplicaciones",
      "ASVS 5 (niveles 1 y 2) requisito a requisito, con sus pruebas, en docs/asvs.md.",
    ),
    house("mp.sw.2", "Aceptación y puesta en servicio"),
    covered(
      "mp.info.1",
      "Datos personales",
      "El registro de tratamiento y la evaluación de impacto salen de los ajustes.",
    ),
    house("mp.info.2", "Calificación de la información"),
    covered(
      "mp.info.3",
      "Firma electrónica",
      "No se firman documentos: no se aplica. La auditoría va sellada y se comprueba.",
    ),
    covered(
      "mp.info.4",
      "Sellos de tiempo",
      "Cada apunte lleva la hora del servidor, en UTC; que vaya en hora (NTP) es de la organización.",
    ),
    covered(
      "mp.info.5",
      "Limpieza de documentos",
      "Las imágenes se enseñan sin sus metadatos; los documentos se guardan como se subieron, con los suyos, y los ve su dueño y con quien los comparta.",
    ),
    set(
      "mp.info.6",
      "Copias de seguridad",
      copies,
      "Cada noche, siete días, cuatro semanas y doce meses, comprobadas al abrirlas.",
      "BACKUP_URL hace copias cada noche; sin ella, las hace quien administra a mano.",
    ),
    covered(
      "mp.s.1",
      "Protección del correo electrónico",
      "Solo sale correo, por SMTP cifrado si el servidor lo tiene, sin claves en los textos.",
    ),
    covered(
      "mp.s.2",
      "Protección de servicios y aplicaciones web",
      "Política de contenidos (CSP) estricta, un código propio en cada formulario, límites por cuenta y red: SECURITY.md.",
    ),
    covered(
      "mp.s.3",
      "Protección de la navegación web",
      "Las páginas no cargan nada de otros sitios; los enlaces de un modelo se ven antes de seguirlos.",
    ),
    covered(
      "mp.s.4",
      "Protección frente a denegación de servicio",
      "Límites por persona y red, cuerpos acotados y turnos: nadie para a los demás.",
    ),
  ];
}

/** Ways to an account that nobody decides on, each with the setting that closes it. */
function openAccounts({ signup, passwords, openAccesses }: Security): string {
  const ways = [];
  if (passwords && signup !== "closed")
    ways.push(
      `${signup === "open" ? "Cualquiera puede" : "Quien diga un correo de los dominios puede"} crear una cuenta (que su correo sea suyo no se comprueba): SIGNUP=closed.`,
    );
  if (openAccesses > 0)
    ways.push(
      `${openAccesses === 1 ? "Un acceso da" : `${openAccesses} accesos dan`} cuenta a cualquiera que entre por él: pon sus dominios en Accesos.`,
    );
  return ways.join(" ");
}

const physical: Measure[] = [
  ["mp.if.1", "Áreas separadas y con control de acceso"],
  ["mp.if.2", "Identificación de las personas"],
  ["mp.if.3", "Acondicionamiento de los locales"],
  ["mp.if.4", "Energía eléctrica"],
  ["mp.if.5", "Protección frente a incendios"],
  ["mp.if.6", "Protección frente a inundaciones"],
  ["mp.if.7", "Registro de entrada y salida de equipamiento"],
  ["mp.per.1", "Caracterización del puesto de trabajo"],
  ["mp.per.2", "Deberes y obligaciones"],
  ["mp.per.3", "Concienciación"],
  ["mp.per.4", "Formación"],
  ["mp.eq.1", "Puesto de trabajo despejado"],
  ["mp.eq.2", "Bloqueo de puesto de trabajo"],
  ["mp.eq.3", "Protección de dispositivos portátiles"],
  ["mp.eq.4", "Otros dispositivos conectados a la red"],
].map(([code = "", name = ""]) => house(code, name));

const said: Record<Coverage, string> = { covered: "Cubierta", missing: "Falta", house: "De la organización" };

/** The measures in words, how many there are of each kind, whose system it is and on which day. */
export function ensOf(processing: Processing, timeZone: string) {
  const measures = measuresOfEns(processing.security);
  const { day } = inWords(processing, timeZone);
  const count = (coverage: Coverage) => measures.filter((one) => one.coverage === coverage).length;
  return {
    day,
    controller: processing.controller.name ?? blank,
    missing: measures.filter(({ coverage }) => coverage === "missing"),
    measures: measures.map(({ coverage, ...one }) => ({ ...one, state: said[coverage] })),
    counts: { covered: count("covered"), missing: count("missing"), house: count("house") },
  };
}
