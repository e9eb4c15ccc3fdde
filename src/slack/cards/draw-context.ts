import type { RoleName } from '../../changes/requirement.ts';
import type { ChangeCommand } from '../../intent/define.ts';
import type { Policy } from '../../policy/policy-types.ts';
import type { LinkOf } from './card-link.ts';

/** What every message needs for drawing, besides the change. */
export interface DrawContext {
  readonly policy: Policy;
  readonly prefix: string;
  readonly commands: ReadonlyMap<string, ChangeCommand>;
  /** The ids of the user groups of a role, for mentions. */
  readonly groupIds: (role: RoleName) => readonly string[];
  readonly linkOf: LinkOf;
  /** The address of `cloud.console`; null if the configuration has none. */
  readonly console: string | null;
}
