/** Says that the model of a reply answers others first. */
export function TurnLine({ place }: { place: number }) {
  return <p className="turn call-line">Esperando turno: eres la {place}.ª</p>;
}
