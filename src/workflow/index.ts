/** Ask `authorize…` before a change is shown to a user. */
export { loadChange } from '../log/index.ts';
export {
  type AgentCaller,
  type AgentOutcome,
  type AgentRequest,
  agentRequests,
} from './agents.ts';
export {
  authorizeDetails,
  authorizeForm,
  authorizeForms,
  authorizePress,
  authorizeQuery,
  authorizeRequester,
} from './authorize.ts';
export { type MaintenanceJob, openBackground } from './background.ts';
export { directRecipients } from './cards.ts';
export type * from './context.ts';
export { createChangesQueries, showHome } from './lists.ts';
export { peopleChanged } from './news.ts';
export {
  formProblem,
  isHandled,
  type Receipt,
  receiveIncidentPress,
  receivePress,
  storingProblem,
} from './press.ts';
export { countCommand } from './rates.ts';
export { rebuildAll } from './rebuild.ts';
export { isUnchangedSince, requestChange } from './request.ts';
export { revealPassword } from './secret.ts';
export { commandServices } from './services.ts';
export { MESSAGE_KINDS } from './show.ts';
