import type { ChangeId } from '../../domain/change.ts';
import { compileOnce } from '../../storage/old/compile-once.ts';
import { isInList, type ListParameter } from '../../storage/old/lists.ts';
import type { AuditEventTable, Db } from '../../storage/old/schema.ts';
import { keyStartPointer } from './key-eras.ts';

/** An audit event of a version, with the stored number of the last start of a key. */
export type VersionEvent = AuditEventTable & { readonly pointer: string | null };

/** Returns the audit events of all versions of a change, in their order. */
export const versionEvents = compileOnce((db: Db, id: ChangeId) =>
  db
    .selectFrom('audit_event')
    .selectAll()
    .select(keyStartPointer)
    .where('change_id', '=', id)
    .where('version', 'is not', null)
    .orderBy('version'),
);

/** Like `versionEvents`, of the changes in a list. */
export const versionEventsOf = compileOnce((db: Db, ids: ListParameter) =>
  db
    .selectFrom('audit_event')
    .selectAll()
    .select(keyStartPointer)
    .where((eb) => isInList(db, eb.ref('change_id').$castTo<string>(), ids))
    .where('version', 'is not', null)
    .orderBy('version'),
);
