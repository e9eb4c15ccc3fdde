import express, { type Router } from 'express';
import { mimetypeOf, type StoredFile } from './files.ts';
import type { SlackState } from './state.ts';

/** Where an app sends the bytes of a file, and where people load them from. */
export function fileRoutes(slack: SlackState): Router {
  const router = express.Router();
  const raw = express.raw({ type: () => true, limit: '20mb' });
  router.post('/upload/v1/:id', raw, async (request, response) => {
    const file = slack.files.get(String(request.params.id));
    if (!file || file.completed) {
      response.status(404).send('not found');
      return;
    }
    const content = await bytesOf(request.body, request.headers['content-type'] ?? '');
    if (content.length !== file.length) {
      response.status(400).send('length does not match');
      return;
    }
    file.content = content;
    response.send(`OK - ${content.length}`);
  });
  router.get('/files-pri/:id/:name', (request, response) => {
    const file = slack.files.get(String(request.params.id));
    if (!file?.completed || !file.content) {
      response.status(404).send('not found');
      return;
    }
    show(response, file, file.content);
  });
  return router;
}

function show(response: express.Response, file: StoredFile, content: Uint8Array): void {
  // Uploaded bytes are never run as a page of the sandbox, whatever they claim to be.
  response.set('content-security-policy', 'sandbox');
  response.set('x-content-type-options', 'nosniff');
  response.type(mimetypeOf(file)).send(Buffer.from(content));
}

/** The official client sends bytes as one field of a form, others send them as they are. */
async function bytesOf(body: unknown, contentType: string): Promise<Uint8Array> {
  const raw = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    return Buffer.from(new URLSearchParams(raw.toString()).get('body') ?? '');
  }
  if (!contentType.startsWith('multipart/form-data')) return raw;
  const request = new Response(new Uint8Array(raw), { headers: { 'content-type': contentType } });
  const [part] = [...(await request.formData()).values()];
  return part instanceof Blob ? new Uint8Array(await part.arrayBuffer()) : Buffer.from(part ?? '');
}
