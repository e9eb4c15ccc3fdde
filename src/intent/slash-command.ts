/**
 * A command line as a user types it: `('db-', 'service list')` → `/db-service list`. Every command
 * that Signalbox shows goes through here, so that it has the prefix of SLACK_COMMAND_PREFIX.
 */
export function slashCommand(prefix: string, line: string): string {
  return `/${prefix}${line}`;
}
