package demo

// ecommerceMeaning is the semantic model of the shop: what its people call things and how
// they count. docs/meaning.md explains the format.
const ecommerceMeaning = `# What the words of Fernhill mean. Format: Apache Ossie; see docs/meaning.md.
version: 0.2.0.dev0
semantic_model:
  - name: ecommerce
    description: What the people of Fernhill mean by their words.
    ai_context:
      instructions: Amounts are in euro. Cancelled orders keep their amounts and are left out of all figures about orders.
    datasets:
      - name: orders
        source: orders
        primary_key: [order_id]
        ai_context:
          synonyms: [purchases]
        fields:
          - name: status
            expression: {dialects: [{dialect: ANSI_SQL, expression: status}]}
            custom_extensions:
              - vendor_name: INTERLOCK
                data: '{"ignore_case": true}'
        custom_extensions:
          - vendor_name: INTERLOCK
            data: '{"main_date": "order_date"}'
      - name: order_items
        source: order_items
        fields:
          - name: quantity
            expression: {dialects: [{dialect: ANSI_SQL, expression: quantity}]}
            ai_context:
              synonyms: [pieces]
      - name: customers
        source: customers
        primary_key: [customer_id]
        ai_context:
          synonyms: [buyers, shoppers]
    relationships:
      - {name: items_of_orders, from: order_items, to: orders, from_columns: [order_id], to_columns: [order_id]}
      - {name: orders_of_customers, from: orders, to: customers, from_columns: [customer_id], to_columns: [customer_id]}
    metrics:
      - name: average basket
        description: What an order that was not cancelled is worth on average
        expression:
          dialects:
            - dialect: ANSI_SQL
              expression: AVG(orders.total) FILTER (WHERE orders.status NOT IN ('cancelled', 'Cancelled', 'CANCELLED'))
        ai_context:
          synonyms: [basket size, AOV]
      - name: cancellation rate
        description: Cancelled orders as a percentage of all orders
        expression:
          dialects:
            - dialect: ANSI_SQL
              expression: 100 * COUNT(orders.order_id) FILTER (WHERE orders.status IN ('cancelled', 'Cancelled', 'CANCELLED')) / COUNT(orders.order_id)
      - name: pieces per order
        description: Pieces sold divided by the orders that have any
        expression:
          dialects:
            - dialect: ANSI_SQL
              expression: SUM(order_items.quantity) / COUNT(DISTINCT order_items.order_id)
    custom_extensions:
      - vendor_name: INTERLOCK
        data: |
          {"ambiguous": [{"term": "sales", "readings": ["gross revenue", "total quantity of order items"]}]}
`
