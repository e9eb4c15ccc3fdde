// What the two programs share: a port, and the end after an error.

/** Wrong words on the command line. */
export class WrongInput extends Error {}

export function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new WrongInput(`--port must be a number from 0 to 65535, not ${text}.`);
}

/** Exits with 2 for wrong input, with the usage; with 1 for a failure. */
export function exitWithError(error: unknown, usage: string): never {
  const reason = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isWrong = error instanceof WrongInput || code.startsWith('ERR_PARSE_ARGS');
  const failure = code === 'EADDRINUSE' ? 'The port is in use: choose another --port' : reason;
  // Node adds to it how to name a file that begins with a dash.
  const sentence = isWrong ? `${reason.split(' To specify')[0]}\n\n${usage}` : failure;
  process.stderr.write(`${sentence}\n`);
  process.exit(isWrong ? 2 : 1);
}
