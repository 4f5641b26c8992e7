import { plugin, config, decodeUtf8, encodeUtf8 } from './host.js';
import * as fsWrite from 'host:cap/fs-write@0.1.0';
import * as process from 'host:cap/process@0.1.0';
import * as background from 'host:tool/background@0.1.0';
import * as fileChanges from 'host:tool/file-changes@0.1.0';
import * as http from 'host:cap/http@0.1.0';
import * as state from 'host:cap/state@0.1.0';
import * as mcp from 'host:cap/mcp@0.1.0';

const needs = (name, scope) => [{ name, scope, reason: 'to try it' }];
const inputSchema = { type: 'object' };
const description = 'Tries.';

export const tool = plugin(
  {
    name: 'note', description, inputSchema, needs: needs('fs-write', '*'),
    preview: ({ path, text }) => ({ tag: 'edit', val: { path, unified: `+${text}`, proposed: text } }),
    revise: ({ path }, text) => ({ path, text }),
    call({ path, text }) {
      fsWrite.write(path, encodeUtf8(text), { tag: 'absent' });
      return 'noted';
    },
  },
  {
    name: 'run', description, inputSchema, needs: needs('process', '*'),
    preview: ({ argv }) => ({ tag: 'exec', val: { argv, directory: '.' } }),
    call({ argv }) {
      const child = process.spawn({ argv, directory: '.', environment: [], stdin: encodeUtf8('from stdin') });
      let printed = '';
      for (let chunk; (chunk = child.read()) != null; ) printed += decodeUtf8(chunk.data);
      return `${printed}, ${child.wait().code}`;
    },
  },
  {
    name: 'talk', description, inputSchema, needs: needs('process', '*'),
    preview({ argv }) {
      background.announceTerminal();
      return { tag: 'exec', val: { argv, directory: '.' } };
    },
    call({ argv, key }) {
      const id = process.spawnTerminal({ argv, directory: '.', environment: [] }, { columns: 40, rows: 10 });
      background.send(id, [{ tag: 'text', val: 'typed' }, { tag: 'key', val: key }]);
      const screen = background.view(id, 300, 10000);
      return `${screen.text}${screen.columns}`;
    },
  },
  {
    name: 'patch', description, inputSchema, needs: needs('fs-write', '*'),
    preview({ path }) {
      fileChanges.write({ path, unified: '+new', proposed: 'new' });
      fileChanges.remove('old.txt');
      return { tag: 'call' };
    },
    call: () => 'patched',
  },
  {
    name: 'fetch', description, inputSchema, needs: needs('http', '*'),
    preview: ({ url }) => ({ tag: 'info', val: { text: 'fetches', requests: [{ method: 'GET', url }], writes: [] } }),
    call({ url }) {
      const answer = http.fetchWithSecrets({ method: 'GET', url, headers: [['x-who', 'me']], sizeLimit: 1000 }, ['token']);
      return `${answer.status} ${decodeUtf8(answer.body)}`;
    },
  },
  {
    name: 'keep', description, inputSchema, needs: needs('state', 'write'),
    call({ key }) {
      const before = state.get(key);
      state.put(key, encodeUtf8('kept'), { tag: 'anything' });
      return `${before == null ? 'nothing' : decodeUtf8(before.value)}, ${config('greeting') ?? 'no greeting'}`;
    },
  },
  {
    name: 'ask', description, inputSchema, needs: needs('mcp', '*'),
    call: ({ tool }) => mcp.call('files', tool, '{"a":1}').content[0].val,
  },
);
