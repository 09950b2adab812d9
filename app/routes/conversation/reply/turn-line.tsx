/** Says that the model of a reply answers others first; 0: no more. */
export function TurnLine({ place }: { place: number }) {
  if (place === 0) return <p className="queue-place call-line">Es tu turno.</p>;
  return <p className="queue-place call-line">Esperando turno: eres la {place}.ª</p>;
}
