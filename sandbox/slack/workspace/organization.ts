import { sandboxWorkspace } from './sandbox-workspace.ts';
import type { Conversation, Member, Workspace } from './workspace.ts';

/** The organization of Enterprise Grid, to which the workspace of the sandbox belongs. */
const ORGANIZATION = 'E0SANDBOX01';
export const SISTER = 'T0SISTER001';
/** The app is added here too, but no configuration lists it. */
export const UNLISTED = 'T0UNLISTED1';

/** The approvers are at home in the sister. Emil is in the workspace that is not listed. */
const HOMES = new Map([
  ...['U0BEN00001', 'U0CLEO0001', 'U0GUS00001'].map((id) => [id, SISTER] as const),
  ['U0EMIL0001', UNLISTED] as const,
]);
/** They were in a workspace before it joined the organization, and have an id of each. */
const WITH_TWO_IDS = ['U0ANA00001', 'U0BEN00001'];
/** People of both workspaces are in these channels. */
const SHARED = ['db-approvals', 'db-audit'];

/** Two workspaces of an organization, for which the app is installed as a whole. */
export const organizationWorkspace: Workspace = {
  ...sandboxWorkspace,
  enterpriseId: ORGANIZATION,
  orgWide: true,
  sisters: [SISTER, UNLISTED],
  members: sandboxWorkspace.members.map((one): Member => {
    const teamId = HOMES.get(one.id) ?? one.teamId;
    if (one.kind === 'external') return one;
    const enterpriseUserId = WITH_TWO_IDS.includes(one.id) ? `W${one.id.slice(1)}` : one.id;
    return { ...one, teamId, enterpriseId: ORGANIZATION, enterpriseUserId };
  }),
  // The approvers are a group of the sister.
  groups: sandboxWorkspace.groups.map((group) =>
    group.handle === 'db-leads' ? { ...group, teamId: SISTER } : group,
  ),
  channels: [
    ...sandboxWorkspace.channels.map((channel): Conversation => {
      if (!SHARED.includes(channel.name)) return channel;
      return { ...channel, teamIds: [sandboxWorkspace.teamId, SISTER] };
    }),
    // A name means another channel in each workspace.
    inOne(SISTER, 'C0OPSSISTER', 'ops'),
    inOne(UNLISTED, 'C0ELSEWHERE', 'elsewhere'),
  ],
};

function inOne(team: string, id: string, name: string): Conversation {
  const members = [...HOMES].flatMap(([person, home]) => (home === team ? [person] : []));
  const all = [...members, sandboxWorkspace.botUserId];
  return { id, name, kind: 'public', topic: '', members: all, archived: false, teamIds: [team] };
}

/** A configuration for these two workspaces: each channel by its name in the first one. */
export function forOrganization<File extends object>(file: File): File {
  const { teamId } = sandboxWorkspace;
  const placed = JSON.stringify(file).replaceAll(/"(#[\w-]+)"/g, `"${teamId}/$1"`);
  return { ...JSON.parse(placed), slack: { workspaces: [teamId, SISTER] } };
}
