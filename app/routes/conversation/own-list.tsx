import type { ReactNode } from "react";
import { Link, useOutlet } from "react-router";
import { DashboardPage } from "../../ui/dashboard-page.tsx";
import { Leaf } from "../../ui/leaf.tsx";
import { BehindDialog } from "../../ui/overlays/behind-dialog.tsx";

type Props = {
  title: string;
  /** Address and label of the link that creates one. */
  create: [to: string, label: string];
  /** Text in place of an empty list. */
  empty: ReactNode;
  rows: ReactNode[];
  children?: ReactNode;
};

/** The page that lists a person's own things of one kind; the form that changes one lies over the page as a dialog. */
export function OwnList({ title, create: [to, label], empty, rows, children }: Props) {
  const dialog = useOutlet();
  return (
    <BehindDialog dialog={dialog}>
      <DashboardPage width="column">
        <div className="head">
          <h1>{title}</h1>
          <Link className="button primary" to={to} preventScrollReset>
            {label}
          </Link>
        </div>
        {rows.length === 0 ? <p className="mt-6 text-text-2">{empty}</p> : <ul className="rows mt-6">{rows}</ul>}
        {children}
      </DashboardPage>
    </BehindDialog>
  );
}

type LeafProps = {
  /** Address and label of the link that leads back. */
  back: [to: string, label: string];
  title: string;
  about: string;
  /** Address of the list, below which each row leads by its id. */
  at: string;
  rows: { id: string; name: string; line: string }[];
  /** The form that creates another item. */
  children: ReactNode;
};

/** A page with such a list that loads no script and has no dialogs. */
export function OwnLeaf({ back, title, about, at, rows, children }: LeafProps) {
  return (
    <Leaf back={back} title={title}>
      <p className="mt-3 text-text-2">{about}</p>
      {rows.length > 0 && (
        <ul className="rows mt-6">
          {rows.map(({ id, name, line }) => (
            <OwnRow key={id} name={name} line={line} to={`${at}/${id}`} />
          ))}
        </ul>
      )}
      {children}
    </Leaf>
  );
}

/** `to`: address at which the thing is used. `changeAt`: the address below which it is changed and deleted, if this person may. */
type RowProps = { name: string; line: string; to: string; changeAt?: string | false };

/** A row of such a list: its name, a line about it, and what can be done. */
export function OwnRow({ name, line, to, changeAt }: RowProps) {
  return (
    <li className="row">
      <div>
        <Link className="title" to={to}>
          {name}
        </Link>
        <p className="line">{line}</p>
      </div>
      {changeAt && (
        <span className="end">
          <ChangeLinks at={changeAt} name={name} />
        </span>
      )}
    </li>
  );
}

/** «Editar» and «Eliminar», whose dialogs lie below the address `at`. */
export function ChangeLinks({ at, name }: { at: string; name: string }) {
  return (
    <>
      <Link className="action" to={`${at}/editar`} preventScrollReset>
        Editar<span className="sr-only"> {name}</span>
      </Link>{" "}
      <Link className="action" to={`${at}/eliminar`} preventScrollReset>
        Eliminar<span className="sr-only"> {name}</span>
      </Link>
    </>
  );
}
