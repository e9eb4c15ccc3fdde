export type { CheckedUsers } from './accounts.ts';
export {
  appTokenProblem,
  foreignAppToken,
  isLastingRefusal,
  METHOD_LIMITS,
  REINSTALL_WITH_SCOPES,
  tokenProblem,
} from './api.ts';
export type { ChannelIdStore } from './channels.ts';
export { connect, type Slack } from './connect.ts';
export type { Deliveries } from './deliveries.ts';
export { groupNamed, groupProblem, type ListedGroup, unknownUserProblem } from './groups.ts';
export {
  type AppIdentity,
  type ChannelFacts,
  createInstallationReads,
  type SocketProbe,
  workspaceProblems,
} from './installation.ts';
export { manifestOf } from './manifest.ts';
