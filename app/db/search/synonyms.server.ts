import { stemOf } from "./words.server.ts";

// Groups of words that people and texts use for the same thing, one group a line; each word finds the others. Everyday and office
// Spanish, from Spain and from America.
const groups = `
coche auto automóvil vehículo carro turismo
casa vivienda piso apartamento inmueble domicilio hogar
alquiler arrendamiento renta alquilar arrendar
casero arrendador propietario dueño
inquilino arrendatario
pagar abonar pago abono ingresar liquidar desembolsar
precio coste costo importe cuantía tarifa cuesta vale valor
dinero importe fondos euros
barato económico asequible
caro costoso
sueldo salario nómina paga retribución remuneración cobrar
jefe director responsable encargado superior
empleado trabajador plantilla personal
trabajo empleo puesto faena labor
empresa compañía sociedad
despedir despido cese
contrato acuerdo convenio
firmar firma suscribir rubricar
plazo límite tope vencimiento caducidad
fianza depósito garantía aval
multa sanción penalización recargo castigo
dejar abandonar marchar irse
romper avería averiar estropear estropeado roto fallo
arreglar reparar reparación arreglo
cambiar sustituir reemplazar cambio sustitución
comprar adquirir compra adquisición
vender venta
devolver devolución reembolso reintegro restituir
gastar gasto gastos
ayuda subvención beca prestación
niño niños menor hijo crío chaval pequeño
padre madre familia tutor progenitor
viejo anciano mayor
médico doctor facultativo
enfermo paciente enfermedad dolencia malo
baja incapacidad
medicina medicamento fármaco pastilla
hospital clínica ambulatorio centro
alergia alérgico intolerancia
comer comida alimento alimentación almuerzo
cena cenar
beber bebida
cole colegio escuela instituto
profesor profesora maestro docente
alumno estudiante escolar
clase curso lección asignatura
examen prueba evaluación
aprobar superar
nota calificación puntuación
matrícula inscripción inscribir apuntar apuntarse matricular
basura residuo desecho desperdicio
contenedor cubo
tirar desechar depositar arrojar
reciclar reciclaje
fuego incendio llama arder
salir evacuar evacuación desalojar salida
emergencia urgencia urgente
apagar desconectar
encender conectar prender arrancar poner
luz electricidad eléctrico corriente
calefacción caldera radiador
frío refrigeración helado
calor temperatura
agua riego regar
ruido molestia bullicio
vecino vecina comunidad propietarios
reunión junta asamblea
votar voto votación
presidente presidenta
elegir elección nombrar designar
socio miembro afiliado asociado
cuota mensualidad
ordenador computadora equipo portátil pc
móvil teléfono celular
internet red wifi conexión
contraseña clave password
correo email mail
página web sitio
imprimir impresora impresión
papel folio hoja
atasco atascado atascar
programa software aplicación
copia copiar duplicado backup respaldo
guardar conservar almacenar
borrar eliminar suprimir quitar
viaje desplazamiento viajar
avión vuelo
hotel alojamiento hospedaje dormir
comprobante justificante recibo tique factura ticket resguardo
vacaciones descanso permiso libranza festivo
domingo festivo
horas horario jornada
tarde retraso demora retrasar
temprano pronto antelación
pedir solicitar solicitud petición
avisar notificar comunicar aviso notificación preaviso
queja reclamación reclamar quejarse
permitir autorizar permiso autorización
prohibir prohibido vetar
obligatorio obligación obligar deber
necesario preciso imprescindible hacer falta
perro perros gato mascota animal
planta cultivo sembrar siembra plantar
abono fertilizante
podar poda
lluvia llover
andar caminar senderismo ruta paseo
subir subida ascender
bajar bajada descender
lejos distancia
coger tomar recoger
prestar préstamo dejar prestado
libro ejemplar volumen
leer lectura
seguro póliza aseguradora cobertura cubrir
accidente siniestro percance
robo hurto robar
daño desperfecto perjuicio
culpa responsabilidad
inundación escape fuga gotera
pared muro tabique
suelo pavimento
techo tejado cubierta
puerta acceso entrada
llave llaves
obra obras reforma rehabilitación
pintar pintura
limpiar limpieza
ascensor elevador
aparcar aparcamiento garaje estacionar parking plaza
velocidad rápido
aceite lubricante
rueda neumático
gasolina combustible carburante
revisión mantenimiento inspección revisar
ganar premio ganador
perder pérdida
empezar comenzar inicio iniciar comienzo
terminar acabar finalizar fin finalización concluir
durar duración
abrir apertura
cerrar cierre
año anual
mes mensual
semana semanal
día diario
mitad medio cincuenta
doble dos
persona individuo gente
ciudad municipio localidad población pueblo
ayuntamiento consistorio alcaldía municipal
impuesto tributo tasa
descuento rebaja bonificación reducción
aumento subida incremento aumentar incrementar
disminuir reducir bajar
total suma
máximo tope límite
mínimo menos
uva vid viñedo
vino caldo
fruta fruto
carne ternera
pescado merluza bacalao
horno hornear
hervir cocer cocción
peso pesar kilos
tamaño medida dimensión
color tono
madera barrica roble
ropa prenda vestir
nacer nacimiento
morir fallecimiento muerte fallecer
boda matrimonio casarse
guerra batalla conflicto
iglesia parroquia templo
rey monarca
fundar fundación crear creación
teletrabajo remoto distancia
`;

const others = new Map<string, string[]>();
for (const line of groups.trim().split("\n")) {
  const stems = [...new Set(line.split(" ").map(stemOf))];
  for (const stem of stems) others.set(stem, [...(others.get(stem) ?? []), ...stems.filter((one) => one !== stem)]);
}

/** Other words for an indexed word, as they are indexed. */
export const synonymsOf = (stem: string): string[] => others.get(stem) ?? [];
