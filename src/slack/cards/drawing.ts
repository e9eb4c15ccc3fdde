import type { RoleName } from '../../changes/change.ts';
import type { ChangeCommand } from '../../intent/define.ts';
import type { Policy } from '../../policy/policy-types.ts';

/** What every message needs for drawing, besides the change. */
export interface Drawing {
  readonly policy: Policy;
  readonly prefix: string;
  readonly commands: ReadonlyMap<string, ChangeCommand>;
  /** The ids of the user groups of a role, for mentions. */
  readonly groupIds: (role: RoleName) => readonly string[];
}
