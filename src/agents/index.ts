export { type AgentDoor, type AgentDoorOptions, openDoor } from './door.ts';
export { countKeys } from './identity.ts';
