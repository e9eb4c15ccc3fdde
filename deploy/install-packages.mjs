// Runs before `npm run sandbox` and `npm test`, on the Node of the machine: the pinned runtime is itself one of the
// packages, and on a fresh clone it is not installed yet.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const WANTED = 'package-lock.json';
/** npm writes this file last, so it is missing after an installation that was interrupted. */
const INSTALLED = 'node_modules/.package-lock.json';
const RUNTIME = 'node_modules/.bin/node';

const say = (line) => process.stderr.write(`${line}\n`);
const packagesOf = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;

/** Versions decide, not file times: Git sets the time of the lockfile to that of the checkout. */
function isComplete() {
  if (!existsSync(INSTALLED)) return false;
  const installed = packagesOf(INSTALLED);
  return Object.entries(packagesOf(WANTED)).every(([path, { version, integrity, optional }]) => {
    const own = installed[path];
    // npm leaves out the optional packages of other platforms.
    if (path === '' || (own === undefined && optional)) return true;
    return own?.version === version && own?.integrity === integrity;
  });
}

/** The oldest Node of the machine whose npm reads the lockfile and installs the packages. */
const OLDEST = [18, 17];

/** npm names the Node that runs it: the one of this script can be that of node_modules. */
function isTooOld(agent) {
  const [, major, minor] = / node\/v(\d+)\.(\d+)/.exec(agent) || [];
  return major < OLDEST[0] || (Number(major) === OLDEST[0] && minor < OLDEST[1]);
}

/** npm names the Node and the script that run it; node_modules/.bin may hold an outdated Node. */
function install() {
  const { npm_node_execpath: node, npm_execpath: npm } = process.env;
  const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const [command, args] = node && npm ? [node, [npm, ...options]] : ['npm', options];
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

if (!isComplete()) {
  const { npm_config_user_agent: agent = `npm node/v${process.versions.node}` } = process.env;
  if (isTooOld(agent)) {
    const own = agent.split(' ').slice(0, 2).join(' on ');
    say(
      `npm needs Node.js ${OLDEST.join('.')} or newer to install the packages. Here runs ${own}.`,
    );
    process.exit(1);
  }
  say('Installing the packages of package-lock.json with npm ci. This takes about a minute.');
  const { status, error } = install();
  if (status !== 0) {
    const reason = error ? error.message : `npm ci ended with exit code ${status}`;
    say(`The packages could not be installed: ${reason}. Fix this, then run the command again.`);
    process.exit(1);
  }
}

// npm reports no error when no optional package fits, and the scripts would run on the machine's Node.
if (!existsSync(RUNTIME)) {
  const { platform, arch } = process;
  say(`There is no ${RUNTIME}. The runtime has packages for Linux and macOS on x64 and arm64.`);
  say(`This machine is ${platform} ${arch}. If that fits, run npm ci --include=optional.`);
  process.exit(1);
}
