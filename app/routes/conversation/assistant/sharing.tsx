type Choice = { id: string; name: string };
type Shared = { shared: boolean; groupIds: string[] | null };

/** Whether a thing is for all, and for which groups; `label`: words of the first choice. Administrators alone see this. */
export function Sharing({ label, of, groups }: { label: string; of: Shared | undefined; groups: Choice[] }) {
  return (
    <>
      <label className="check">
        <input type="checkbox" name="shared" value="1" defaultChecked={of?.shared} />
        {label}
      </label>
      {groups.length > 0 && (
        <Checks
          legend="Si se comparte, solo para estos grupos (sin marcar ninguno, para todas las personas)"
          name="groupIds"
          choices={groups}
          isOn={(id) => of?.groupIds?.includes(id) ?? false}
        />
      )}
    </>
  );
}

type ChecksProps = { legend: string; name: string; choices: Choice[]; isOn(id: string): boolean };

/** Check boxes for several choices. */
export function Checks({ legend, name, choices, isOn }: ChecksProps) {
  return (
    <fieldset className="checks tools">
      <legend>{legend}</legend>
      {choices.map(({ id, name: label }) => (
        <label className="check" key={id}>
          <input type="checkbox" name={name} value={id} defaultChecked={isOn(id)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
