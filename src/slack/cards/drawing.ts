import type { RoleName } from '../../changes/change.ts';
import type { ChangeCommand } from '../../intent/define.ts';
import type { Policy } from '../../policy/policy-types.ts';

/** What drawing needs beside the change: the same for every message. */

export interface Drawing {
  readonly policy: Policy;
  readonly prefix: string;
  readonly commands: ReadonlyMap<string, ChangeCommand>;
  /** The ids of a role's user groups, for the one mention that calls the approvers. */
  readonly groupIds: (role: RoleName) => readonly string[];
}
