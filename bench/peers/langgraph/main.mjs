// Times a ReAct agent of LangGraph.js: a scripted model, a trivial tool, bare or with
// the memory checkpointer. Prints one line of JSON.
//
//   node main.mjs [--steps 100] [--runs 5] [--checkpointer]
import { parseArgs } from 'node:util'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { z } from 'zod'

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '100' },
    runs: { type: 'string', default: '5' },
    checkpointer: { type: 'boolean', default: false },
  },
})
const steps = Number(values.steps)
const runs = Number(values.runs)

// Calls the tool a number of times and then answers.
class Scripted extends BaseChatModel {
  said = 0
  _llmType() {
    return 'scripted'
  }
  bindTools() {
    return this
  }
  async _generate() {
    this.said++
    const message =
      this.said > steps
        ? new AIMessage('done')
        : new AIMessage({
            content: '',
            tool_calls: [{ id: `call_${this.said}`, name: 'echo', args: { text: `step ${this.said}` }, type: 'tool_call' }],
          })
    return { generations: [{ text: message.text, message }] }
  }
}

const echo = tool(({ text }) => JSON.stringify({ text }), {
  name: 'echo',
  description: 'Gives back its text.',
  schema: z.object({ text: z.string() }),
})

// What the checkpointer keeps, serialized: the bytes that its tables would hold.
function stored(value) {
  if (value instanceof Uint8Array) return value.length
  if (value === null || typeof value !== 'object') return 0
  return Object.values(value).reduce((sum, v) => sum + stored(v), 0)
}

const took = []
let bytes = 0
for (let run = -3; run < runs; run++) {
  const llm = new Scripted({})
  const checkpointer = values.checkpointer ? new MemorySaver() : undefined
  const agent = createReactAgent({ llm, tools: [echo], checkpointSaver: checkpointer })
  const begun = performance.now()
  const out = await agent.invoke(
    { messages: [new HumanMessage('Count.')] },
    { configurable: { thread_id: 't' }, recursionLimit: 2 * steps + 10 },
  )
  const ms = performance.now() - begun
  if (out.messages.at(-1).content !== 'done') throw new Error('the run did not come to its end')
  if (run >= 0) took.push(ms) // the first ones warm up
  if (checkpointer) bytes = stored(checkpointer.storage) + stored(checkpointer.writes)
}
took.sort((a, b) => a - b)
const us = (took[Math.floor(took.length / 2)] * 1000) / steps
const peer = values.checkpointer ? 'langgraph+memory' : 'langgraph'
console.log(JSON.stringify({ peer, steps, us_per_step: us, ...(bytes ? { bytes } : {}) }))
