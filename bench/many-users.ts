import { userIds, workspaceWith } from '../test/harness/generated-users.ts';

/** A user may send sixty commands a minute, so the load needs many users. All may see services. */
export const MANY_USERS = userIds('CROWD', 1_000);
export const workspaceOfManyUsers = workspaceWith(MANY_USERS, { engineering: MANY_USERS });
