import { setGlobalProxyFromEnv } from 'node:http';

// HTTPS_PROXY, HTTP_PROXY and NO_PROXY hold for everything that leaves the process.
setGlobalProxyFromEnv();

// `signalbox` and `npm start`: without a word Signalbox starts; every other word is a command of `ops`.
const args = process.argv.slice(2);
const starts =
  args.length === 0 || (await (await import('./ops/cli.ts')).runCommandLine(args)) === 'start';
if (starts) await import('./app-process.ts');
