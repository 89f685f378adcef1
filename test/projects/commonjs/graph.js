const { Annotation, Command, Send, START, StateGraph } = require('@langchain/langgraph');
const { double } = require('./double');

const State = Annotation.Root({
  n: Annotation(),
  doubled: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

exports.graph = new StateGraph(State)
  .addNode(
    'split',
    () => new Command({ goto: [new Send('double', { n: 1 }), new Send('double', { n: 2 })] }),
    {
      ends: ['double'],
    },
  )
  .addNode('double', ({ n }) => ({ doubled: [double(n)] }))
  .addEdge(START, 'split')
  .compile();
