import { userIds, workspaceWith } from '../test/harness/people.ts';

/** A user may send sixty commands a minute, so the load needs many users. All may see services. */
export const CROWD = userIds('CROWD', 1_000);
export const crowdedWorkspace = workspaceWith(CROWD, { engineering: CROWD });
