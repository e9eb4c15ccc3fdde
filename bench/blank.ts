import { createServer } from 'node:http';
import { Environment } from './environment.ts';

/** Says yes to everything at once: what is measured of it is the load generator's own doing. */
const { PORT } = Environment.parse(process.env);
const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => response.end());
});
server.listen(PORT, '127.0.0.1');
