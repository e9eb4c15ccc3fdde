import { userIds, workspaceWith } from '../test/harness/generated-users.ts';

/**
 * A person types far fewer than the twenty commands a minute up to which Signalbox counts in memory alone, so that the
 * load needs many users. All may see services.
 */
export const MANY_USERS = userIds('CROWD', 3_000);
export const workspaceOfManyUsers = workspaceWith(MANY_USERS, { engineering: MANY_USERS });
