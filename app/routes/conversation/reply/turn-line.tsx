/** Says that the model answers other people first; `place` 0: nobody is before this reply. */
export function TurnLine({ place }: { place: number }) {
  if (place === 0) return <p className="queue-place call-line">Es tu turno.</p>;
  return <p className="queue-place call-line">Esperando turno: eres la {place}.ª</p>;
}
