export { standingOf } from './accounts.ts';
export {
  appTokenProblem,
  boltLogger,
  foreignAppToken,
  isLastingRefusal,
  METHOD_LIMITS,
  REINSTALL_WITH_SCOPES,
  readPages,
  refusedBySlack,
  tokenProblem,
} from './api.ts';
export type { ChannelIdStore } from './channels.ts';
export { connect, type InstalledApp, readInstalledApp, type Slack } from './connect.ts';
export type { Deliveries } from './deliveries.ts';
export {
  groupNamed,
  groupProblem,
  type ListedGroup,
  listNamedGroups,
  unknownUserProblem,
} from './groups.ts';
export { manifestOf } from './manifest.ts';
