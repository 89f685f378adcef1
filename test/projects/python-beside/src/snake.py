from langgraph.graph import StateGraph

graph = StateGraph(dict).add_node("bite", lambda state: state).set_entry_point("bite").compile()
