import { stringify } from 'yaml';
import { userIds, workspaceWith } from '../../harness/generated-users.ts';
import { type copiesOfStaging, serviceEntries } from '../../harness/services.ts';

export const APPROVER_IDS = userIds('APPR', 20);
/** So many that no user reaches the command rate limit. */
const REQUESTERS = userIds('OPER', 50);
export const OPERATORS = ['U0ANA00001', 'U0FINN0001', ...REQUESTERS];

/** The sandbox workspace with twenty more approvers and fifty more operators. */
export const largeWorkspace = workspaceWith([...APPROVER_IDS, ...REQUESTERS], {
  'db-leads': APPROVER_IDS,
  'db-operators': REQUESTERS,
});

export function shardsYaml(yaml: object, own: ReturnType<typeof copiesOfStaging>): string {
  return stringify({ ...yaml, services: serviceEntries(own) });
}
