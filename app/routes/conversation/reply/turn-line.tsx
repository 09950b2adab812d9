/** Says that the model of a reply answers others first. */
export function TurnLine({ place }: { place: number }) {
  return <p className="queue-place call-line">Esperando turno: eres la {place}.ª</p>;
}
