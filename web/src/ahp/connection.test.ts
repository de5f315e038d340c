import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Connection, REQUEST_TIME } from './connection.ts';
import { Lost, RpcError, Timeout } from './errors.ts';
import { FakeSocket } from './testing/socket.ts';

let socket: FakeSocket;
let connection: Connection;
let told: unknown[];

beforeEach(() => {
  vi.useFakeTimers();
  socket = new FakeSocket();
  told = [];
  connection = new Connection(socket.asWebSocket, {
    opened: () => told.push('opened'),
    heard: () => undefined,
    notification: (method, params) => told.push([method, params]),
    closed: (code) => told.push(code),
  });
  socket.open();
});
afterEach(() => {
  connection.close();
  vi.useRealTimers();
});

const request = (method: string, params: object = {}) =>
  new Promise((resolve, reject) => connection.request(method, params, { resolve, reject }));

test('answers find their requests in any order', async () => {
  const first = request('one', { a: 1 });
  const second = request('two');
  expect(socket.sent).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'one', params: { a: 1 } },
    { jsonrpc: '2.0', id: 2, method: 'two', params: {} },
  ]);
  socket.tell({ id: 2, result: null });
  socket.tell({ id: 1, result: 'done' });
  expect(await first).toBe('done');
  expect(await second).toBeNull();
});

test('an error carries its code, its message and its data', async () => {
  const asked = request('createTerminal');
  socket.tell({ id: 1, error: { code: -32603, message: 'ten terminals are open', data: { limit: 10 } } });
  const err = (await asked.catch((e: unknown) => e)) as RpcError;
  expect(err).toBeInstanceOf(RpcError);
  expect([err.code, err.message, err.data]).toEqual([-32603, 'ten terminals are open', { limit: 10 }]);
});

test('a request without an answer ends by itself, and a late answer is nothing', async () => {
  const asked = request('slow').catch((e: unknown) => e);
  await vi.advanceTimersByTimeAsync(REQUEST_TIME);
  expect(await asked).toBeInstanceOf(Timeout);
  socket.tell({ id: 1, result: 1 });
});

test('the end of the socket ends every request before it is told', async () => {
  connection.request('one', {}, { resolve: () => told.push('resolved'), reject: (err) => told.push(err) });
  socket.end(1001);
  expect(told).toEqual(['opened', expect.any(Lost), 1001]);
  expect(vi.getTimerCount()).toBe(0);
});

test('nothing is told after close', () => {
  const { onmessage, onclose } = socket;
  expect([onmessage, onclose]).not.toContain(null);
  connection.close();
  socket.tell({ method: 'action', params: {} });
  socket.end();
  expect(told).toEqual(['opened']);
});

test('a request of the server gets an answer', () => {
  socket.tell({ id: 'x', method: 'resourceRead', params: {} });
  expect(socket.sent).toEqual([{ jsonrpc: '2.0', id: 'x', error: { code: -32601, message: expect.any(String) as string } }]);
});

test.each([
  'null',
  '[]',
  '7',
  '',
  '{',
  '{}',
  '{"id":1,"result":1}',
  '{"jsonrpc":"1.0","id":1,"result":1}',
  '{"jsonrpc":"2.0","id":"1","result":1}',
  '{"jsonrpc":"2.0","id":[1],"result":1}',
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
  '{"jsonrpc":"2.0","id":2,"result":1}',
  '{"jsonrpc":"2.0","id":1}',
  '{"jsonrpc":"2.0","id":1,"error":"no"}',
  '['.repeat(100_000),
])('%.60s answers nothing', async (frame) => {
  const asked = request('ping');
  socket.raw(frame);
  socket.raw(new ArrayBuffer(8));
  socket.tell({ id: 1, result: 'the answer' });
  expect(await asked).toBe('the answer');
  expect(told).toEqual(['opened']);
});

test.each([{}, { code: '7', message: 7 }, { code: 1.5, message: '' }])('the error %o still ends the request', async (error) => {
  const asked = request('ping').catch((e: unknown) => e);
  socket.tell({ id: 1, error });
  expect(await asked).toMatchObject({ code: 0, message: 'The server could not do that.' });
});
