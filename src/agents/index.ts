export { type AgentDoor, type AgentDoorOptions, openDoor } from './door.ts';
