export const echo = (state) => ({
  messages: [{ role: 'assistant', content: `You said: ${state.messages.at(-1).content}` }],
  turns: (state.turns ?? 0) + 1,
});

export async function* words(state, config) {
  for (const word of state.text.split(' ')) {
    config.writer({ word });
    yield { last: word };
  }
}

export const asks = (state, config) => {
  const answer = config.interrupt({ question: `May I ${state.what}?` });
  return { answer };
};
