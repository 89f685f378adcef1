import * as assert from 'uvu/assert';
import { readModelAnswer } from '../../../src/recording/usage.ts';
import { suite } from '../../support/suite.ts';

const test = suite('recording, token usage');

const read = (body: string | object, type = 'application/json') =>
  readModelAnswer(
    [['Content-Type', type]],
    Buffer.from(typeof body === 'string' ? body : JSON.stringify(body, null, 2)),
  );
const events = (...data: object[]): string =>
  data.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('');

test('the answers of three providers, whole and streamed, report their tokens', () => {
  const details = {
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 3 },
  };
  const openai = {
    object: 'chat.completion',
    usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14, ...details },
  };
  const chunks = Array.from({ length: 400 }, () => ({
    object: 'chat.completion.chunk',
    choices: [{ delta: { content: 'word' } }],
    usage: null,
  }));
  const started = {
    type: 'message_start',
    message: { type: 'message', usage: { input_tokens: 20, cache_read_input_tokens: 5, output_tokens: 1 } },
  };
  const gemini = (count: number) => ({
    candidates: [{}],
    usageMetadata: {
      promptTokenCount: 7,
      candidatesTokenCount: count,
      thoughtsTokenCount: 2,
      totalTokenCount: 9 + count,
    },
  });
  const known: [string | object, number, number, string?][] = [
    [openai, 9, 5],
    [
      events(...chunks, {
        object: 'chat.completion.chunk',
        choices: [],
        usage: { prompt_tokens: 9, completion_tokens: 400 },
      }),
      9,
      400,
      'text/event-stream; charset=utf-8',
    ],
    [
      {
        object: 'response',
        output: [],
        usage: { input_tokens: 3, output_tokens: 2, output_tokens_details: { reasoning_tokens: 1 } },
      },
      3,
      2,
    ],
    [
      events({
        type: 'response.completed',
        response: { object: 'response', usage: { input_tokens: 3, output_tokens: 2 } },
      }),
      3,
      2,
      'text/event-stream',
    ],
    [{ type: 'message', content: [], usage: { input_tokens: 20, output_tokens: 8 } }, 20, 8],
    [
      events(
        started,
        { type: 'content_block_delta', delta: { text: 'x'.repeat(40_000) } },
        { type: 'message_delta', usage: { output_tokens: 30 } },
      ),
      25,
      30,
      'text/event-stream',
    ],
    [gemini(4), 7, 6],
    [events(gemini(1), gemini(4)), 7, 6, 'text/event-stream'],
    [[gemini(1), gemini(4)], 7, 6],
    [{ object: 'list', data: [], usage: { prompt_tokens: 8, total_tokens: 8 } }, 8, 0],
  ];
  for (const [body, input, output, type] of known)
    assert.equal(read(body, type), { tokens: { input, output } }, String(JSON.stringify(body)).slice(0, 200));
});

test('an answer of a model without a report is one without tokens; other answers are none', () => {
  assert.equal(
    read(events({ object: 'chat.completion.chunk', choices: [], usage: null }), 'text/event-stream'),
    {},
  );
  assert.equal(read({ type: 'message', content: [] }), {});
  assert.equal(read({ candidates: [] }), {});
  for (const body of [
    { usage: 'much' },
    { usage: { cpu: 3 } },
    { temperature: 4 },
    'not JSON',
    '{"usage":{"prompt_tokens":1.5}}',
  ])
    assert.is(read(body), undefined, JSON.stringify(body));
  assert.is(read({ usage: { prompt_tokens: 1, completion_tokens: 1 } }, 'text/html'), undefined);
});

test('a text that names a report within a string is no report', () => {
  const content = JSON.stringify({ usage: { prompt_tokens: 1_000 } });
  assert.equal(
    read({
      object: 'chat.completion',
      usage: { prompt_tokens: 2, completion_tokens: 1 },
      choices: [{ message: { content } }],
    }),
    {
      tokens: { input: 2, output: 1 },
    },
  );
});

test.run();
